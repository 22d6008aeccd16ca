// The three screenshots of docs/studio.md, drawn as a graphics card draws them: at full size.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { claim, finish, folder, launch, openPage, serve, until } from "./harness.mjs";

const pictures = process.env.PICTURES;
const browser = await launch();
const VIEWPORT = { viewport: { width: 960, height: 540 } };

const table = `
model = "droplet"
[time]
duration = "10 s"
frame = "20 ms"
[lights]
environment = "studio"
sun = { direction = [-1, 2, 1], color = 2 }
[materials.wax]
advancing = "105 deg"
receding = "85 deg"
[[solids]]
name = "table"
material = "wax"
normal = [0, 1, 0]
size = "160 100 mm"
look = "plastic"
texture = "checker"
texture_tiling = [0.5, 0.5]
color = [0.75, 0.35, 0.2]
roughness_look = 0.5
[[solids]]
name = "button"
material = "wax"
shape = "cylinder"
from = "-55 -1 0 mm"
to = "-55 12 0 mm"
radius = "10 mm"
look = "plastic"
color = [0.1, 0.35, 0.6]
[[emitters]]
kind = "rain"
over = "table"
rate = "60 um/s"
velocity = "0 -2 0 m/s"
`;

/** Pauses, draws at full size, and takes the picture. */
async function take(page, name) {
  await page.evaluate(() => studio.play(false));
  await until(page, () => !studio.view.playing);
  const frames = await page.evaluate(() => {
    for (const renderer of [studio.renderer, studio.twinRenderer]) if (renderer) Object.assign(renderer, { software: false, scale: 1 });
    return studio.frames;
  });
  await until(page, (n) => studio.frames > n + 2, frames);
  await page.screenshot({ path: join(pictures, `studio-${name}.png`) });
}

async function one(name, args, prepare) {
  const server = await serve(...args);
  const { page, errors } = await openPage(browser, server.address, VIEWPORT);
  await page.click("#hints-close");
  const ready = await prepare(page);
  await take(page, name);
  claim(`${name}: the page shows what the picture is about`, ready && errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
  await server.end();
}

await one("window", [], (page) => until(page, () => studio.view.time > 14 && studio.view.ids.length > 100, null, 120));
const file = join(folder, "table.toml");
writeFileSync(file, table);
await one("table", [file], async (page) => {
  await page.click("#settings");
  await page.evaluate(() => Object.assign(studio.camera, { yaw: studio.camera.yaw + 0.35 }));
  // From the start: on a slow machine it has rained for long by now.
  await page.keyboard.press("r");
  await until(page, () => studio.view.time < 5);
  return until(page, () => studio.view.time > 9, null, 240);
});
await one("compare", ["window-drops"], async (page) => {
  await page.click("#settings");
  const comes = await until(page, () => studio.view.time > 1.5, null, 240);
  await page.evaluate(() => studio.engine.send({ ask: "compare", model: "droplet" }));
  return comes && until(page, () => studio.twin?.view?.ids.length > 0 && studio.twin.view.time > 2.2, null, 240);
});
await browser.close();
finish();
process.exit();
