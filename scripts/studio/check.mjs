// The studio's page, as a visitor uses it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claim, finish, folder, launch, openPage, serve, until } from "./harness.mjs";
import { likeness } from "./likeness.mjs";
import { visitor } from "./visitor.mjs";

const pictures = process.env.PICTURES;
const browser = await launch();

const TABLE = `
title = "Drops on a table"
model = "MODEL"
[time]
duration = "5 s"
frame = "20 ms"
[materials.wax]
advancing = "105 deg"
receding = "85 deg"
[[solids]]
name = "table"
material = "wax"
normal = [0, 1, 0]
size = "80 50 mm"
texture = "checker"
[[solids]]
name = "button"
material = "wax"
shape = "cylinder"
from = "-25 -1 0 mm"
to = "-25 6 0 mm"
radius = "5 mm"
look = "plastic"
[[drops]]
shape = "cap"
on = "table"
center = "-10 0 0 mm"
volume = "15 uL"
[[drops]]
shape = "cap"
on = "table"
center = "15 0 5 mm"
volume = "40 uL"
`;

/** Total volume of the drops on the page, in m³. */
const shown = (page) => page.evaluate(() => {
  const { view } = studio;
  let sum = 0;
  for (let k = 0; k < view.ids.length; k++) sum += view.drops[20 * k + 16];
  return { count: view.ids.length, volume: sum, time: view.time, bead: view.bead, undo: view.undo };
});
/**
 * A balance of the page in m³ that closes (what was added is on the solids, in films, or lost), with or without liquid
 * on the tool; where `added` is given, with what is on the tool it makes that volume. Null where none comes.
 */
const balanced = async (page, { bead, added = null }) => {
  const comes = await until(page, ({ bead, added }) => {
    const b = studio.balance;
    const close = (x, y) => Math.abs(x - y) < 1e-5 * y;
    return b !== null && b.bead > 0 === bead && close(b.present + b.film + b.lost, b.added)
      && (added === null || close(b.added + b.bead, added));
  }, { bead, added });
  return comes ? page.evaluate(() => studio.balance) : null;
};
const balanceText = (b) => b && `${b.added} added = ${b.present} + ${b.film} film + ${b.lost} lost, ${b.bead} on the finger`;
const input = (page, value) => page.evaluate((value) => studio.engine.input(value), value);

async function rainyWindow() {
  const start = Date.now();
  const server = await serve();
  const { page, errors } = await openPage(browser, server.address);
  const seconds = (Date.now() - start) / 1000;
  const first = await shown(page);
  claim("the page opens on a rainy window that is already running", first.count > 50 && first.time > 5, `${seconds.toFixed(1)} s, ${first.count} drops`);
  claim("time passes", await until(page, (t) => studio.view.time > t + 0.5, first.time));
  claim("drops slide down", await until(page, () => studio.view.drops.some((v, k) => k % 20 === 14 && v < -0.005)));
  await page.click("#hints-close");
  await page.screenshot({ path: join(pictures, "window.png") });

  await page.click("#play");
  claim("time stands still when paused", await until(page, () => !studio.view.playing));
  const before = await shown(page);
  const paused = await balanced(page, { bead: false });
  await page.mouse.move(160, 120);
  await page.mouse.down();
  for (let k = 1; k <= 12; k++) await page.mouse.move(160 + 15 * k, 120 + 4 * k);
  const during = await balanced(page, { bead: true, added: paused?.added });
  claim("a wipe takes drops onto the finger, and the balance closes", during !== null, balanceText(during));
  await page.mouse.up();
  const after = await balanced(page, { bead: false, added: paused?.added });
  claim("the lifted finger leaves its liquid", after !== null, balanceText(after));
  await page.keyboard.press("z");
  claim("undo brings the drops back", await until(page, (n) => studio.view.ids.length === n, before.count));

  await page.click("#play");
  await input(page, { do: "gravity", vector: [9.8, 0, 0] });
  claim("tilted gravity moves drops sideways", await until(page, () => studio.view.drops.some((v, k) => k % 20 === 13 && v > 0.005)));
  await page.click("#settings");
  await page.focus("#gravity");
  await page.keyboard.press("ArrowLeft");
  claim("the gravity ball is moved by the keyboard", await until(page, () => studio.view.gravity[0] < 9.79));
  await page.click("#gravity-reset");
  claim("and set back", await until(page, () => Math.abs(studio.view.gravity[1] + 9.8) < 0.01));

  const [frames, begin] = [await page.evaluate(() => studio.frames), Date.now()];
  const come = await until(page, (frames) => studio.frames >= frames + 8, frames);
  const { count } = await shown(page);
  const rate = 8000 / (Date.now() - begin);
  claim("pictures come on a software rasterizer", come, `${rate.toFixed(1)} frames per second at 640 × 360 with ${count} drops`);
  const { triangles, calls } = await page.evaluate(() => studio.renderer.spent);
  // A fiftieth of what the integrated graphics of ten years ago draw in a frame at 60 per second.
  claim("a picture is light enough for old graphics", triangles < 400000 && calls < 40, `${triangles} triangles, ${calls} draw calls`);
  await latency(page);
  claim("nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
  await server.end();
}

/** Pictures and time from an input to the first picture with it: the median of nine. */
async function latency(page) {
  const samples = await page.evaluate(async () => {
    const samples = [];
    for (let k = 0; k < 9; k++) {
      const [undo, frames, start] = [studio.view.undo, studio.frames, performance.now()];
      studio.engine.input({ do: "add", at: [0.01 * (k - 4), 0.03, 0.0005], volume: 1e-9 });
      await new Promise((resolve) => {
        const look = () => (studio.view.undo > undo ? resolve(null) : setTimeout(look, 1));
        look();
      });
      samples.push({ time: studio.view.arrived - start, frames: studio.frames - frames + 1 });
      await new Promise((resolve) => { setTimeout(resolve, 30); });
    }
    return samples;
  });
  const middle = (name) => samples.map((sample) => sample[name]).sort((a, b) => a - b)[4];
  claim("an input is in the picture after two frames at most", middle("frames") <= 2,
    `${middle("frames")} frames; the engine's view came after ${middle("time").toFixed(0)} ms`);
}

async function table(model) {
  const file = join(folder, `${model}.toml`);
  writeFileSync(file, TABLE.replace("MODEL", model));
  const record = join(folder, `${model}.jsonl`);
  const server = await serve(file, "--record", record);
  const { page, errors } = await openPage(browser, server.address);
  await page.click("#hints-close");
  await until(page, () => studio.view.time > 0.1);
  const place = () => page.evaluate(() => studio.overlay.places(studio.view).find((drop) => drop.id === 1)?.place[0]);
  const before = await place();
  for (let k = 0; k < 16; k++) {
    await input(page, { do: "move", solid: 1, by: [0.001, 0, 0], duration: 0.03, begin: k === 0 });
    // The next part starts where the solid then is, at least half a millimeter on; so 0.9 mm per part are safe to wait for.
    await until(page, (x) => studio.view.poses[21] >= x, 0.0009 * k + 0.0005);
  }
  const pushed = await until(page, (x) => studio.overlay.places(studio.view).find((drop) => drop.id === 1)?.place[0] > x, before + 2e-3);
  claim(`${model}: a dragged button pushes the drop`, pushed, `${before} m, then ${await place()} m`);

  await page.evaluate(() => {
    window.angle = null;
    const show = studio.panels.showSelected.bind(studio.panels);
    studio.panels.showSelected = (drop) => { window.angle = drop.measured; show(drop); };
    studio.select(2);
  });
  await until(page, () => window.angle !== null);
  const dry = await page.evaluate(() => window.angle);
  await input(page, { do: "material", solid: 0, angles: [40, 40, 20] });
  const lowered = await until(page, (dry) => window.angle !== null && window.angle < dry - 10, dry);
  const wet = await page.evaluate(() => window.angle);
  claim(`${model}: another material lowers the measured contact angle`, dry > 75 && lowered, `${dry?.toFixed(1)}° then ${wet?.toFixed(1)}°`);
  await page.screenshot({ path: join(pictures, `table-${model}.png`) });
  claim(`${model}: nothing was written to the console`, errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
  await server.end();
  const digest = execFileSync(process.env.SESSILE, ["studio", "--replay", record, "--headless"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  const last = readFileSync(record, "utf8").trim().split("\n").pop();
  claim(`${model}: the recorded session replays to the same state`, JSON.parse(last).digest === digest);
}

async function saveAndRun() {
  const file = join(folder, "saved.toml");
  writeFileSync(file, TABLE.replace("MODEL", "droplet"));
  const server = await serve(file);
  const { page } = await openPage(browser, server.address);
  await until(page, () => studio.view.time > 0.2);
  await page.click("#play");
  await until(page, () => !studio.view.playing);
  const drops = await page.evaluate(() => [...studio.view.ids].map((_, k) => [...studio.view.drops.slice(20 * k, 20 * k + 20)]));
  const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.getElementById("save-scene").click())]);
  const scene = join(folder, "from-page.toml");
  await download.saveAs(scene);
  await page.close();
  await server.end();
  const out = join(folder, "run");
  execFileSync(process.env.SESSILE, ["run", scene, "--out", out, "--no-pictures", "--threads", "1", "--set", 'time.duration="20 ms"'], { stdio: "ignore" });
  const line = JSON.parse(readFileSync(join(out, "measure.jsonl"), "utf8").split("\n")[0]);
  const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance * Math.abs(a);
  const same = drops.every((drop) => line.drops.some((other) => near(drop[16], other.volume, 1e-3)
    && Math.hypot(drop[0] - other.centroid[0], drop[2] - other.centroid[2]) < 2e-4 && near(drop[9], other.base_radius, 0.03)));
  claim("a saved scene begins on the command line with the same drops", same && drops.length === line.drops.length, `${drops.length} drops`);

  const saved = await saveRun(file);
  const player = await serve(out, saved);
  const run = await openPage(browser, player.address);
  await run.page.waitForSelector("#plots svg", { timeout: 60000 });
  claim("two runs play side by side with one timeline and curves of both",
    await until(run.page, () => studio.twin?.view && studio.overlay.places(studio.view).length === 2 && studio.overlay.places(studio.twin.view).length === 2
      && [...document.querySelectorAll("#plots svg")].filter((svg) => svg.querySelectorAll("polyline").length === 2).length >= 4)
    && run.errors.length === 0, await run.page.evaluate(() => [studio.view, studio.twin?.view].map((view) => view && studio.overlay.places(view).length).join(" and ")
      + ` drops, ${document.querySelectorAll("#plots polyline").length} curves`) + run.errors.join("; "));
  const last = await run.page.evaluate(() => {
    studio.play(false);
    const end = Number(document.getElementById("timeline-frame").max);
    studio.player.show(end);
    return studio.player.longest.frames[end] * studio.player.longest.interval;
  });
  claim("and both stand at the same time", await until(run.page, (t) => studio.twin.view.time === t && studio.player.waiting === 0, last));
  await run.page.screenshot({ path: join(pictures, "two-runs.png") });
  await run.page.close();
  await player.end();
}

/** Saves a run by the button; returns its folder. */
async function saveRun(scene) {
  const server = await serve(scene);
  const { page } = await openPage(browser, server.address);
  await page.evaluate(() => document.getElementById("save-run").click());
  const frames = await until(page, () => Number(/(\d+) frames/.exec(document.getElementById("save-run-text").value)?.[1]) >= 5);
  await page.evaluate(() => document.getElementById("save-run").click());
  const ends = await until(page, () => /^saved/.test(document.getElementById("save-run-text").value));
  await page.close();
  await server.end();
  const out = join(folder, "runs", "saved-studio");
  const info = existsSync(out) ? JSON.parse(readFileSync(join(out, "run.json"), "utf8")) : null;
  claim("the run is saved as a finished run folder", frames && ends && info?.status === "done" && info.frames >= 5, JSON.stringify(info));
  const measured = execFileSync(process.env.SESSILE, ["measure", out], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  execFileSync(process.env.SESSILE, ["render", out, "--frames", "0", "--quality", "preview", "--threads", "1"], { stdio: "ignore" });
  claim("which `sessile measure` and `sessile render` open", measured.length > 0);
  return out;
}

/** Placing, seeing and removing a source with the pointer. */
async function sources() {
  const file = join(folder, "sources.toml");
  writeFileSync(file, TABLE.replace("MODEL", "droplet"));
  const server = await serve(file);
  const { page, errors } = await openPage(browser, server.address);
  await page.click("#hints-close");
  await page.keyboard.press("7");
  const before = await page.evaluate(() => studio.balance?.added ?? 55e-9);
  // A place on the table without a drop.
  await page.mouse.click(330, 150);
  claim("a click places a source with a marker", await until(page, () => studio.overlay.markers.length === 1 && studio.view.undo === 1));
  claim("and it drips", await until(page, (v) => studio.balance?.added > v + 7e-9, before));
  await page.screenshot({ path: join(pictures, "sources.png") });
  const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.getElementById("save-scene").click())]);
  claim("the saved scene contains it", readFileSync(await download.path(), "utf8").includes('kind = "drip"'));
  await page.mouse.click(...await page.evaluate(() => {
    const { camera, canvas, overlay } = studio;
    const m = camera.matrices().viewProjection;
    const p = [...overlay.markers[0].at, 1];
    const [x, y, , w] = [0, 1, 2, 3].map((r) => [0, 1, 2, 3].reduce((sum, c) => sum + m[4 * c + r] * p[c], 0));
    return [(x / w * 0.5 + 0.5) * canvas.clientWidth, (0.5 - y / w * 0.5) * canvas.clientHeight];
  }));
  claim("a click on the marker removes it", await until(page, () => studio.overlay.markers.length === 0));
  await page.keyboard.press("z");
  claim("undo brings it back", await until(page, () => studio.overlay.markers.length === 1));
  claim("sources: nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
  await server.end();
}

/** What happens when something fails. */
async function failures() {
  const file = join(folder, "failures.toml");
  writeFileSync(file, `resolution.cell = "0.5 mm"\n${TABLE.replace("MODEL", "volume")}`);
  const server = await serve(file);
  const { page, errors } = await openPage(browser, server.address);
  await page.click("#hints-close");
  const grows = async () => until(page, (n) => studio.frames > n + 1, await page.evaluate(() => studio.frames));
  await page.evaluate(() => {
    window.lost = studio.renderer.gl.getExtension("WEBGL_lose_context");
    window.lost.loseContext();
  });
  await until(page, () => studio.renderer.gl.isContextLost());
  await page.evaluate(() => window.lost.restoreContext());
  claim("pictures come again after the graphics card was lost", await until(page, () => !studio.renderer.gl.isContextLost()) && await grows());

  await page.evaluate(() => Object.defineProperty(document, "hidden", { value: true, configurable: true }));
  const [frames, time] = await page.evaluate(() => [studio.frames, studio.view.time]);
  const goesOn = await until(page, (t) => studio.view.time > t, time);
  claim("a sleeping tab draws nothing, and time passes", goesOn && await page.evaluate((n) => studio.frames <= n + 1, frames));
  await page.evaluate(() => { delete document.hidden; });
  claim("an awakened tab draws again", await grows());

  for (const vector of [[1e9, 0, 0], [0, -1e200, 0]]) await input(page, { do: "gravity", vector });
  claim("a gravity out of bounds is refused with a message", await until(page, () => /at most 1000 m\/s²/.test(document.getElementById("notices").textContent))
    && await page.evaluate(() => studio.view.gravity[1] > -10));
  await until(page, () => studio.view.time > 0.02);
  const stopped = await page.evaluate(() => {
    studio.hear({ kind: "failure", text: "a failure for the test" });
    return studio.view.time;
  });
  claim("a failed simulation is reported", await page.locator("#failure:visible").count() === 1);
  await page.click("#failure-recover");
  claim("and continues from the last good state",
    await until(page, (t) => studio.view.playing && studio.view.time < t && document.getElementById("failure").hidden, stopped), `stopped at ${stopped} s`);
  await page.evaluate(() => { studio.view.arrived -= 3000; studio.hearBinary = () => {}; });
  claim("a step that takes long is reported", await until(page, () => /one step for \d+ s/.test(document.getElementById("busy").textContent)
    && !document.getElementById("busy").hidden));
  claim("failures: nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();

  const poor = await browser.newPage({ viewport: { width: 640, height: 360 } });
  await poor.addInitScript(() => {
    const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function get(kind, ...rest) { return kind === "webgl2" ? null : real.call(this, kind, ...rest); };
  });
  await poor.goto(server.address);
  claim("a browser without WebGL2 gets a clear message", await until(poor, () => !document.getElementById("no-webgl").hidden));
  await poor.close();
  await server.end();
}

async function randomInputs() {
  const server = await serve();
  const { page, errors } = await openPage(browser, server.address);
  await page.click("#hints-close");
  let state = 7;
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const keys = ["1", "2", "3", "4", "5", "6", "7", " ", ".", "z", "r", "h", "+", "-", "ArrowLeft", "ArrowUp", "Shift+ArrowRight", "Enter"];
  for (let k = 0; k < 200; k++) {
    const [x, y] = [130 + random(480), 20 + random(260)];
    switch (random(5)) {
      case 0: await page.keyboard.press(keys[random(keys.length)]); break;
      case 1: await page.mouse.click(x, y); break;
      case 2:
        await page.mouse.move(x, y);
        await page.mouse.down({ button: random(2) ? "left" : "right" });
        await page.mouse.move(130 + random(480), 20 + random(260), { steps: 4 });
        await page.mouse.up();
        await page.mouse.up({ button: "right" });
        break;
      case 3: await page.mouse.wheel(0, random(600) - 300); break;
      default: await page.evaluate((n) => document.querySelectorAll("#materials button, #panel input")[n % 30]?.click(), random(30));
    }
  }
  await until(page, () => studio.view && studio.frames > 0);
  const lives = await page.evaluate(() => studio.engine.open);
  claim("200 random inputs leave the console empty and the engine running", errors.length === 0 && lives, errors.slice(0, 3).join("; "));
  await input(page, { do: "scene", name: "wrong.toml", text: "model = \"pane\"\n[time]\nduration = 3\n" });
  claim("a wrong scene is shown with line and caret while the old one runs",
    await until(page, () => /wrong\.toml:3/.test(document.getElementById("scene-error").textContent ?? "")
      && document.getElementById("scene-error").textContent.includes("^")));
  await page.close();
  await server.end();
}

const parts = { rainyWindow, pane: () => table("pane"), droplet: () => table("droplet"), surface: () => table("surface"), saveAndRun, sources, failures, randomInputs,
  visitor: () => visitor(browser, pictures), likeness: () => likeness(browser, pictures) };
const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const start = Date.now();
  try {
    await part();
  } catch (error) {
    claim(`${name} runs to its end`, false, String(error).split("\n")[0]);
  }
  console.log(`-- ${name}: ${((Date.now() - start) / 1000).toFixed(0)} s`);
}
await browser.close();
finish();
// Servers of parts that failed end with this program.
process.exit();
