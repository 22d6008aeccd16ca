// The examples and the demo page in a browser. Every claim waits for what it claims; nothing depends on speed.
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { claim, finish, launch, until } from "./harness.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm" };
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
async function open(path, size = { width: 640, height: 360 }) {
  const page = await browser.newPage({ viewport: size });
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

/** The demo as a visitor uses it: with the mouse and the settings. */
async function byHand() {
  const { page, errors } = await open("demo/index.html", { width: 960, height: 600 });
  await until(page, () => window.studio?.frames > 0 && window.studio.view.ids.length > 20, null, 90);
  await page.click("#hints-close");
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  const balance = () => page.evaluate(() => window.studio.balance.added);
  await until(page, () => window.studio.balance !== null);

  await page.mouse.move(200, 250);
  await page.mouse.down();
  for (let k = 1; k <= 12; k++) await page.mouse.move(200 + 30 * k, 250 + 3 * k);
  const takes = await until(page, () => window.studio.view.bead > 0);
  await page.screenshot({ path: join(process.env.PICTURES, "demo-wipe.png") });
  await page.mouse.up();
  claim("by hand: the mouse wipes", takes && await until(page, () => window.studio.view.bead === 0 && window.studio.view.undo === 1));
  await page.click("#undo");
  claim("by hand: and the button takes it back", await until(page, () => window.studio.view.undo === 0));

  await page.selectOption("#compare", "droplet");
  claim("by hand: a second model is chosen", await until(page, () => window.studio.twin?.view?.ids.length > 0
    && document.getElementById("twin-name").textContent === "droplet" && document.getElementById("view-name").textContent === "pane"));
  await page.screenshot({ path: join(process.env.PICTURES, "demo-by-hand.png") });
  await page.selectOption("#compare", "");
  claim("by hand: and taken away", await until(page, () => window.studio.twin === null));

  await page.uncheck("#sources");
  const dry = await balance();
  await page.check("#rain");
  claim("by hand: it rains", await until(page, (before) => window.studio.view.rain > 0 && window.studio.balance.added > before + 2e-8, dry));
  await page.uncheck("#rain");
  await until(page, () => window.studio.view.rain === 0);

  await page.selectOption("#source-kind", "feed");
  await page.click("#source-use");
  await page.mouse.click(330, 300);
  claim("by hand: a needle is placed by a click", await until(page, () => window.studio.overlay.markers.length === 1));
  const fed = await balance();
  claim("by hand: and feeds", await until(page, (before) => window.studio.balance.added > before + 1e-9, fed));
  await page.locator("#source-list button").first().click();
  claim("by hand: and is removed from the list", await until(page, () => window.studio.overlay.markers.length === 0));

  await page.selectOption("#liquid", "glycerol");
  claim("by hand: another liquid flows", await until(page, () => window.studio.scene.liquid.name === "glycerol" && window.studio.view.ids.length > 20));
  await page.locator("#materials button").nth(3).click();
  claim("by hand: another material", await until(page, () => window.studio.view.undo === 1));
  await page.selectOption("#model", "surface");
  claim("by hand: and another model", await until(page, () => window.studio.scene.model === "surface" && window.studio.view.positions.length > 0, null, 120));
  for (const [button, name] of [["#save-scene", /\.toml$/], ["#save-still", /\.png$/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    claim(`by hand: ${button} saves`, name.test(download.suggestedFilename()) && statSync(await download.path()).size > 500, download.suggestedFilename());
  }
  await page.click("#save-clip");
  await page.waitForTimeout(1500);
  const [clip] = await Promise.all([page.waitForEvent("download"), page.click("#save-clip")]);
  claim("by hand: a clip is saved", statSync(await clip.path()).size > 1000, clip.suggestedFilename());
  await page.click("#save-run");
  claim("by hand: saving a run says what it needs", await until(page, () => /sessile studio/.test(document.getElementById("notices").textContent)));
  claim("by hand: no errors in the console", errors.length === 0, errors.join("; "));
  await page.close();
}

/** Hostile inputs, to the package on the page's own thread and to the demo: a clear error each, and the page lives. */
async function hostile() {
  const { page, errors } = await open("examples/photo.html");
  await shows(page);
  const { attempts, wrong, slowest } = await page.evaluate(async () => {
    const [{ attack }, { Sessile }] = await Promise.all([import("/hostile.mjs"), import("/sessile.js")]);
    return attack(Sessile);
  });
  claim(`${attempts} hostile inputs end in a clear error`, wrong.length === 0, wrong.length ? wrong.slice(0, 5).join("; ") : `slowest ${slowest}`);
  const time = await page.evaluate(() => document.getElementById("state").value);
  claim("and the page's own simulation continues", await until(page, (before) => document.getElementById("state").value !== before, time)
    && errors.length === 0, errors.join("; "));
  await page.close();

  const demo = await open("demo/index.html");
  await until(demo.page, () => window.studio?.frames > 0 && window.studio.view.ids.length > 20, null, 90);
  const head = 'model = "surface"\n[time]\nduration = "1 s"\nframe = "0.1 s"\n';
  const scenes = {
    "huge.toml": `${head}[resolution]\nedge = "1 nm"\n[[solids]]\nname = "a"\n[[drops]]\nshape = "cap"\non = "a"\nvolume = "4 uL"\n`,
    "long.toml": "#".repeat(20 << 20),
    "endless.toml": head.replace("1 s", "inf s"),
    "missing.toml": `${head}[[solids]]\nname = "a"\nshape = "mesh"\nfile = "nowhere.obj"\n`,
  };
  for (const [name, text] of Object.entries(scenes)) {
    await demo.page.evaluate(() => { document.getElementById("scene-error").textContent = ""; window.said = ""; });
    await demo.page.evaluate(([name, text]) => {
      const notice = window.studio.notice.bind(window.studio);
      window.studio.notice = (said) => { window.said += said; notice(said); };
      window.studio.engine.input({ do: "scene", name, text });
    }, [name, text]);
    const told = await until(demo.page, () => document.getElementById("scene-error").textContent + window.said !== "");
    const time = await demo.page.evaluate(() => window.studio.view.time);
    const lives = await until(demo.page, (before) => window.studio.view.time > before, time);
    const message = await demo.page.evaluate(() => document.getElementById("scene-error").textContent + window.said);
    claim(`the demo refuses ${name} and continues`, told && lives, message.slice(0, 120).replaceAll("\n", " "));
  }
  claim("hostile scenes: no errors in the console", demo.errors.length === 0, demo.errors.join("; "));
  await demo.page.close();
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
claim("the saved scene is the present moment", /preset = "honey"/.test(readFileSync(await download.path(), "utf8"))
  && readFileSync(await download.path(), "utf8").split("[[drops]]").length > drops / 2);
await input({ do: "material", solid: 0, preset: "ptfe" });
claim("a material changes the contact angle", await until(page, () => Math.abs(window.studio.scene.solids[0].angles[0] - 113) < 1e-6));
await page.evaluate(() => window.studio.engine.send({ ask: "open_scene", name: "tear" }));
claim("another scene runs in another model", await until(page, () => window.studio.scene.model === "droplet" && window.studio.view.ids.length > 0, null, 60));
await input({ do: "scene", name: "wrong.toml", text: "model = \"pan\"" });
claim("an error in a scene is shown", await until(page, () => document.getElementById("scene-error").textContent.includes("pan")));
claim("the demo writes no errors", errors.length === 0, errors.join("; "));
await page.close();

await byHand();
await hostile();
await browser.close();
server.close();
finish();
