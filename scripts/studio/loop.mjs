// The recorded session as an animated picture: one picture for every ten ticks, whatever time they take to draw.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, launch, openPage, serve } from "./harness.mjs";

const { OUT, RECORDING } = process.env;
const [FIRST, LAST, TICKS] = [600, 1200, 10];
const strokes = readFileSync(RECORDING, "utf8").trim().split("\n").slice(1).map((line) => JSON.parse(line)).filter((line) => line.input.do === "wipe");

const browser = await launch();
const server = await serve("--replay", RECORDING);
const { page } = await openPage(browser, server.address, { viewport: { width: 640, height: 360 } });
await page.evaluate(() => {
  studio.play(false);
  document.getElementById("hints-close").click();
  document.documentElement.dataset.theme = "light";
  Object.assign(studio.renderer, { scale: 1 });
});
await page.waitForFunction(() => !studio.view.playing);

/** Steps until a tick, and waits for the picture of it. */
async function show(tick) {
  const now = await page.evaluate(() => studio.view.ticks);
  if (now > tick) throw new Error(`the page opened at tick ${now}, after the first picture`);
  await page.evaluate((count) => { for (let k = 0; k < count; k++) studio.engine.send({ ask: "step" }); }, tick - now);
  await page.waitForFunction((tick) => studio.view.ticks === tick, tick);
  const stroke = strokes.find((line) => line.tick > tick - TICKS && line.tick <= tick);
  await page.evaluate((input) => {
    const { hand, overlay } = studio;
    overlay.tool = [];
    if (!input) return;
    const [x, y, z] = input.path[1];
    if (input.tool.kind === "finger") hand.showTool([x, y, z], [0, 0, 1]);
    else overlay.tool = [[x, y - input.tool.half[1], z], [x, y + input.tool.half[1], z]];
  }, stroke?.input ?? null);
  const frames = await page.evaluate(() => studio.frames);
  await page.waitForFunction((n) => studio.frames > n, frames);
}

const files = [];
for (let tick = FIRST; tick < LAST; tick += TICKS) {
  // Most steps that the server takes in a second are 1000.
  await show(tick);
  const file = join(folder, `${tick}.png`);
  writeFileSync(file, await page.screenshot());
  files.push(file);
}
await page.close();
await server.end();
await browser.close();
execFileSync("python3", ["-c", `
import sys
from PIL import Image
pictures = [Image.open(path).convert("RGB") for path in sys.argv[2:]]
pictures[0].save(sys.argv[1], save_all=True, append_images=pictures[1:], duration=83, loop=0, quality=50, method=6)`, OUT, ...files]);
console.log(`${OUT}: ${files.length} pictures`);
process.exit();
