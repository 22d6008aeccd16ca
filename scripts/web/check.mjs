// The examples and the demo page in a browser. Every claim waits for what it claims; nothing depends on speed.
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { claim, finish, launch, until } from "./harness.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm" };
const server = createServer((request, response) => {
  const path = join(process.env.SITE, normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)));
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    response.writeHead(request.url === "/favicon.ico" ? 204 : 404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const site = `http://127.0.0.1:${server.address().port}`;
const browser = await launch();

/** Opens a page of the site that must not write errors to the console. */
async function open(path) {
  const page = await browser.newPage({ viewport: { width: 640, height: 360 } });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${site}/${path}`);
  return { page, errors };
}

const shows = (page) => until(page, () => {
  const match = /([\d.]+) s, (\d+) drops/.exec(document.getElementById("state")?.value ?? "");
  return match !== null && Number(match[1]) > 0.15 && Number(match[2]) > 5;
}, null, 60);

for (const [name, text] of [["photo", "rain runs over a photograph"], ["three", "drops fall in three.js"]]) {
  const { page, errors } = await open(`examples/${name}.html`);
  claim(text, await shows(page), await page.evaluate(() => document.getElementById("state").value));
  if (name === "photo") {
    await page.setInputFiles("#file", { name: "red.png", mimeType: "image/png", buffer: redImage() });
    const red = () => {
      const { data } = document.getElementById("canvas").getContext("2d").getImageData(0, 0, 1, 1);
      return data[0] > 200 && data[1] < 80;
    };
    claim("the photograph is the user's own", await until(page, red));
    await page.mouse.move(100, 150);
    await page.mouse.down();
    await page.mouse.move(500, 150, { steps: 10 });
    await page.mouse.up();
  }
  await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
  claim(`${name}.html writes no errors`, errors.length === 0, errors.join("; "));
  await page.close();
}

/** A red PNG of one pixel. */
function redImage() {
  return Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "base64");
}

const { page, errors } = await open("demo/index.html");
claim("the demo shows drops", await until(page, () => window.studio?.frames > 0 && window.studio.view.ids.length > 20, null, 90));
await page.screenshot({ path: join(process.env.PICTURES, "demo.png") });
const input = (value) => page.evaluate((given) => window.studio.engine.input(given), value);

await page.evaluate(() => window.dispatchEvent(new DeviceOrientationEvent("deviceorientation", { beta: 90, gamma: 0 })));
await page.evaluate(() => window.dispatchEvent(new DeviceOrientationEvent("deviceorientation", { beta: 30, gamma: 0 })));
const tilted = () => Math.abs(window.studio.view.gravity[1] + 9.81 / 2) < 0.01 && Math.abs(window.studio.view.gravity[2] + 9.81 * Math.cos(Math.PI / 6)) < 0.01;
claim("a tilted phone tilts gravity", await until(page, tilted));

const path = Array.from({ length: 20 }, (_, k) => [-0.06 + 0.006 * k, 0, 0, 0.02 * k]);
await input({ do: "wipe", tool: { kind: "finger", radius: 0.01 }, path, normal: [0, 0, 1], begin: true, end: true });
const wipe = (end) => input({ do: "wipe", tool: { kind: "finger", radius: 0.01 }, path, normal: [0, 0, 1], begin: true, end });
await wipe(false);
claim("a wipe takes liquid", await until(page, () => window.studio.view.bead > 0 && window.studio.view.undo === 1));
await input({ do: "undo" });
claim("undo returns it", await until(page, () => window.studio.view.bead === 0 && window.studio.view.undo === 0));
const added = await page.evaluate(() => window.studio.balance.added);
await wipe(true);
claim("a lifted finger leaves its liquid", await until(page, (before) => window.studio.view.undo === 1 && window.studio.view.bead === 0
  && window.studio.balance.added > 0.98 * before, added));

await input({ do: "place", source: { kind: "feed", at: [0, 0.01, 0.0003], rate: 2e-8 } });
claim("a source can be placed", await until(page, () => window.studio.scene.placed.length === 1 && window.studio.overlay.markers.length === 1));
await input({ do: "unplace", id: 1 });
claim("and removed", await until(page, () => window.studio.scene.placed.length === 0));
await input({ do: "sources", open: false });
await input({ do: "rain", rate: 2e-4, solid: 0 });
const wetter = await page.evaluate(() => window.studio.balance.added);
claim("it rains by hand", await until(page, (before) => window.studio.view.rain > 0 && window.studio.balance.added > before + 2e-8, wetter));
await input({ do: "rain", rate: 0, solid: 0 });

await page.evaluate(() => window.studio.engine.send({ ask: "compare", model: "droplet" }));
claim("another model is shown beside it", await until(page, () => window.studio.twin?.view?.ids.length > 0));
await page.screenshot({ path: join(process.env.PICTURES, "demo-compare.png") });
await page.evaluate(() => window.studio.engine.send({ ask: "compare", model: null }));
claim("and taken away", await until(page, () => window.studio.twin === null));
const drops = await page.evaluate(() => window.studio.view.ids.length);
await input({ do: "liquid", preset: "honey" });
claim("another liquid continues with the drops", await until(page, (before) => window.studio.scene.liquid.name === "honey"
  && window.studio.view.ids.length > before / 2, drops));
const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.getElementById("save-scene").click())]);
claim("the saved scene is the present moment", /liquid = "honey"/.test(readFileSync(await download.path(), "utf8"))
  && readFileSync(await download.path(), "utf8").split("[[drops]]").length > drops / 2);
await input({ do: "material", solid: 0, preset: "ptfe" });
claim("a material changes the contact angle", await until(page, () => Math.abs(window.studio.scene.solids[0].angles[0] - 113) < 1e-6));
await page.evaluate(() => window.studio.engine.send({ ask: "open_scene", name: "tear" }));
claim("another scene runs in another model", await until(page, () => window.studio.scene.model === "droplet" && window.studio.view.ids.length > 0, null, 60));
await input({ do: "scene", name: "wrong.toml", text: "model = \"pan\"" });
claim("an error in a scene is shown", await until(page, () => document.getElementById("scene-error").textContent.includes("pan")));
claim("the demo writes no errors", errors.length === 0, errors.join("; "));

await browser.close();
server.close();
finish();
