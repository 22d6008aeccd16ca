// Starts `sessile studio` and a browser, and keeps count of what holds.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

// Every server ends with this program.
process.setMaxListeners(100);

const ARGUMENTS = [
  "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
  "--disable-component-update", "--no-first-run", "--mute-audio",
];

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: ARGUMENTS });

/** Folder in which servers run: saved runs go there. */
export const folder = mkdtempSync(join(tmpdir(), "studio-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Starts the command; returns its address, its process and a way to end it. */
export async function serve(...args) {
  const child = spawn(process.env.SESSILE, ["studio", ...args, "--no-open"], { stdio: ["ignore", "pipe", "ignore"], cwd: folder });
  const address = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).split("\n")[0]));
    child.once("exit", (code) => reject(new Error(`sessile studio ended with ${code}`)));
  });
  process.once("exit", () => child.kill("SIGINT"));
  const end = () => new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill("SIGINT");
  });
  return { address, end, pid: child.pid };
}

let held = 0;
const failed = [];

/** A claim that holds or not. */
export function claim(text, holds, detail = "") {
  if (holds) held += 1;
  else failed.push(text);
  console.log(`${holds ? "ok  " : "FAIL"} ${text}${detail === "" ? "" : ` (${detail})`}`);
}

export function finish() {
  console.log(`${held} claims hold, ${failed.length} do not`);
  if (failed.length > 0) process.exitCode = 1;
}

/** A page that must not write errors to the console. */
export async function openPage(browser, address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 640, height: 360 }, ...options });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(address);
  await page.waitForFunction(() => window.studio?.frames > 0, null, { timeout: 60000 });
  return { page, errors };
}

/** Waits until a function of the page is true; false after `seconds`. */
export async function until(page, test, argument = null, seconds = 60) {
  try {
    await page.waitForFunction(test, argument, { timeout: 1000 * seconds });
    return true;
  } catch {
    return false;
  }
}
