// The same state in the studio and by the path tracer, from the same camera.
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, launch, openPage, serve, until } from "./harness.mjs";

const pictures = process.env.PICTURES;
const sessile = (...args) => execFileSync(process.env.SESSILE, args, { stdio: ["ignore", "ignore", "inherit"] });

const head = (model) => `model = "${model}"\nseed = 4\n[time]\nduration = "20 ms"\nframe = "20 ms"\n`;
const drops = (list) => list.map(([x, y, z, volume, angle]) => `[[drops]]\nshape = "cap"\ncenter = "${x} ${y} ${z} mm"\nvolume = "${volume} uL"\n`
  + `contact_angle = "${angle} deg"\n`).join("");
const onTable = drops([[-4, 0, 1, 30, 85], [6, 0, -2, 14, 80], [-9, 0, -6, 8, 75], [2, 0, 6, 4, 80], [9, 0, 5, 2, 75], [-2, 0, -8, 1, 70], [12, 0, -8, 20, 85]]);
const onWindow = drops([[-6, 2, 0, 12, 75], [5, 4, 0, 6, 70], [1, -5, 0, 8, 75], [9, -4, 0, 3, 70], [-10, -5, 0, 2, 70], [-2, 6, 0, 1, 70], [12, 5, 0, 1.5, 70]]);

const SCENES = {
  table: {
    text: `${head("droplet")}[materials.wax]\nadvancing = "90 deg"\nreceding = "60 deg"\n[[solids]]\nname = "table"\nmaterial = "wax"\n`
      + `size = "120 120 mm"\ntexture = "checker"\n${onTable}[light]\nenvironment = "studio"\n`,
    camera: { target: [0, 0.001, 0], distance: 0.06, yaw: 0.35, pitch: 0.6 },
  },
  window: {
    text: `${head("droplet")}[materials.pane]\npreset = "glass-outdoor"\n[[solids]]\nname = "window"\nmaterial = "pane"\nnormal = [0, 0, 1]\n`
      + `size = "90 60 mm"\nlook = "glass"\n${onWindow}[light]\nenvironment = "garden"\n`,
    camera: { target: [0, 0, 0], distance: 0.045, yaw: 0.15, pitch: 0.05 },
  },
};

const browser = await launch();
for (const [name, { text, camera }] of Object.entries(SCENES)) {
  const { target, distance, yaw, pitch } = camera;
  const back = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
  const mm = (v) => `"${v.map((x) => (1000 * x).toFixed(4)).join(" ")} mm"`;
  const eye = target.map((x, k) => x + distance * back[k]);
  const scene = join(folder, `${name}.toml`);
  writeFileSync(scene, `${text}[camera]\nposition = ${mm(eye)}\nlook_at = ${mm(target)}\nfov = "32 deg"\n`);
  const run = join(folder, name);
  sessile("run", scene, "--out", run, "--no-pictures", "--threads", "2");
  const traced = join(folder, `${name}-traced`);
  sessile("render", run, "--frames", "last", "--size", "640x400", "--samples", "64", "--out", traced);
  const server = await serve(run);
  const { page } = await openPage(browser, server.address, { viewport: { width: 640, height: 400 } });
  await page.evaluate((camera) => {
    studio.play(false);
    Object.assign(studio.renderer, { scale: 1, software: false });
    studio.player.show(Number(document.getElementById("timeline-frame").max));
    const frame = studio.camera.frame.bind(studio.camera);
    studio.camera.frame = (scene) => { frame(scene); Object.assign(studio.camera, camera); };
    Object.assign(studio.camera, camera);
  }, camera);
  await until(page, () => studio.player.waiting === 0);
  const frames = await page.evaluate(() => studio.frames);
  await until(page, (n) => studio.frames > n + 1, frames);
  const url = await page.evaluate(() => {
    studio.renderer.draw(studio.view, studio.camera, 0);
    return studio.canvas.toDataURL("image/png");
  });
  const shot = join(folder, `${name}-studio.png`);
  writeFileSync(shot, Buffer.from(url.split(",")[1], "base64"));
  await page.close();
  await server.end();
  const image = join(traced, readdirSync(traced, { recursive: true }).find((file) => String(file).endsWith(".png")));
  const out = join(pictures, `studio-traced-${name}.jpg`);
  execFileSync("python3", ["-c", `
import sys
from PIL import Image
a, b = (Image.open(path).convert("RGB") for path in sys.argv[1:3])
pair = Image.new("RGB", (a.width + b.width + 8, a.height), "white")
pair.paste(a, (0, 0)); pair.paste(b, (a.width + 8, 0))
pair.save(sys.argv[3], quality=88)`, shot, image, out]);
  console.log(out);
}
await browser.close();
process.exit();
