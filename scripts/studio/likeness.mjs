// Compares the page's picture with the path tracer's image of the same state, seen by the same camera.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claim, folder, openPage, serve, until } from "./harness.mjs";

const SIZE = [320, 180];
const HEAD = `model = "droplet"
[time]
duration = "5 s"
frame = "20 ms"
[render]
size = [${SIZE.join(", ")}]
samples = 24
`;
/** Scenes with what a page could ignore, and the least likeness of each: measured, less a margin for rasterizers. */
const SCENES = {
  table: { least: 0.8, text: `${HEAD}
[camera]
position = "0 36 58 mm"
look_at = "0 0 2 mm"
fov = "32 deg"
aperture = "0 mm"
[lights]
environment = "studio"
sun = { direction = [-1, 2, 1], color = 2 }
[materials.wax]
advancing = "95 deg"
receding = "70 deg"
[[solids]]
name = "table"
material = "wax"
normal = [0, 1, 0]
size = "160 120 mm"
look = "plastic"
texture = "checker"
texture_tiling = [1, 1]
color = [0.75, 0.35, 0.2]
roughness_look = 0.6
[[solids]]
name = "ball"
material = "wax"
shape = "sphere"
center = "-24 7 -10 mm"
radius = "7 mm"
look = "plastic"
color = [0.9, 0.7, 0.3]
roughness_look = 0.45
metallic = 1
[[drops]]
shape = "cap"
on = "table"
center = "-6 0 6 mm"
volume = "60 uL"
[[drops]]
shape = "cap"
on = "table"
center = "14 0 -2 mm"
volume = "25 uL"
contact_angle = "70 deg"
[[drops]]
shape = "cap"
on = "table"
center = "10 0 16 mm"
volume = "10 uL"
` },
  window: { least: 0.85, text: `${HEAD}
[camera]
position = "10 4 90 mm"
look_at = "0 0 0 mm"
fov = "32 deg"
aperture = "0 mm"
[lights]
environment = "garden"
[[solids]]
name = "window"
normal = [0, 0, 1]
size = "200 120 mm"
look = "glass"
${Array.from({ length: 24 }, (_, k) => `[[drops]]
shape = "cap"
on = "window"
center = "${(((k * 37) % 80) - 40)} ${(((k * 23) % 44) - 22)} 0 mm"
volume = "${2 + ((k * 7) % 11)} uL"
contact_angle = "${45 + ((k * 5) % 25)} deg"
`).join("")}` },
  relief: { least: 0.7, images: { "normals.png": normalMap }, text: `${HEAD}
[camera]
position = "0 36 58 mm"
look_at = "0 0 2 mm"
fov = "32 deg"
aperture = "0 mm"
[lights]
environment = "studio"
sun = { direction = [-1, 1.5, 1], color = 2 }
[[solids]]
name = "table"
normal = [0, 1, 0]
size = "80 60 mm"
look = "plastic"
color = [0.5, 0.5, 0.55]
roughness_look = 0.5
normal_map = "normals.png"
[[solids]]
name = "ball"
shape = "sphere"
center = "-14 8 -8 mm"
radius = "8 mm"
look = "plastic"
color = [0.7, 0.4, 0.3]
roughness_look = 0.6
normal_map = "normals.png"
texture_tiling = [2, 1]
[[drops]]
shape = "cap"
on = "table"
center = "10 0 4 mm"
volume = "60 uL"
` },
};

/** A normal map of waves: the slopes of 0.6 sin along u and v, as a PNG. Runs in a page. */
function normalMap() {
  const side = 256;
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const slope = (turns, at) => 0.6 * Math.sin((2 * Math.PI * turns * (at + 0.5)) / side);
      const [u, v] = [slope(5, column), slope(8, side - 1 - row)];
      const length = Math.hypot(u, v, 1);
      image.data.set([u, v, 1].map((part) => 127.5 + (127.5 * part) / length).concat(255), 4 * (row * side + column));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL("image/png").split(",")[1];
}

/**
 * Mean structural similarity of luminance over windows of 8 × 8 pixels, half of them shared (wang2004), and the mean
 * difference of channels, in shares of white.
 */
const compare = (page, ours, theirs) => page.evaluate(async ([ours, theirs, [width, height]]) => {
  const [a, b] = await Promise.all([ours, theirs].map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  }));
  const gray = (data) => Float64Array.from({ length: width * height }, (_, k) => (0.2126 * data[4 * k] + 0.7152 * data[4 * k + 1] + 0.0722 * data[4 * k + 2]) / 255);
  const [x, y] = [gray(a), gray(b)];
  let [sum, windows] = [0, 0];
  for (let top = 0; top + 8 <= height; top += 4) {
    for (let left = 0; left + 8 <= width; left += 4) {
      let [mx, my, xx, yy, xy] = [0, 0, 0, 0, 0];
      for (let row = top; row < top + 8; row++) {
        for (let column = left; column < left + 8; column++) {
          const [p, q] = [x[row * width + column], y[row * width + column]];
          [mx, my, xx, yy, xy] = [mx + p / 64, my + q / 64, xx + p * p / 64, yy + q * q / 64, xy + p * q / 64];
        }
      }
      const [vx, vy, c] = [xx - mx * mx, yy - my * my, xy - mx * my];
      sum += ((2 * mx * my + 1e-4) * (2 * c + 9e-4)) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4));
      windows += 1;
    }
  }
  let difference = 0;
  for (let k = 0; k < a.length; k++) difference += k % 4 < 3 ? Math.abs(a[k] - b[k]) / 255 : 0;
  return { similarity: sum / windows, difference: difference / (3 * width * height) };
}, [ours, theirs, SIZE]);

const png = (bytes) => `data:image/png;base64,${bytes.toString("base64")}`;

export async function likeness(browser, pictures, open = openPage) {
  for (const [name, { text, least, images = {} }] of Object.entries(SCENES)) {
    for (const [image, make] of Object.entries(images)) {
      const maker = await browser.newPage();
      writeFileSync(join(folder, image), Buffer.from(await maker.evaluate(make), "base64"));
      await maker.close();
    }
    const file = join(folder, `like-${name}.toml`);
    writeFileSync(file, text);
    const server = await serve(file);
    const { page, errors } = await open(browser, server.address);
    await until(page, () => studio.view.time > 0.05 && studio.pictures.has("environment 0") && studio.renderer.meter === 0);
    await page.evaluate(() => studio.play(false));
    await until(page, () => !studio.view.playing);
    const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.getElementById("save-scene").click())]);
    const scene = join(folder, `like-${name}-now.toml`);
    await download.saveAs(scene);
    const picture = (isFlat, isShadowed = true) => page.evaluate(([isFlat, isShadowed, [width]]) => {
      studio.renderer.software = false;
      studio.renderer.scale = width / studio.canvas.clientWidth / (window.devicePixelRatio || 1);
      if (isFlat) studio.renderer.solids.forEach((solid) => { solid.described.look.relief = false; });
      studio.renderer.draw(studio.view, studio.camera, 0);
      if (!isShadowed) {
        studio.renderer.shadows.planes.clear();
        studio.renderer.draw(studio.view, studio.camera, 0);
        studio.renderer.shadows.made = null;
      }
      return studio.canvas.toDataURL("image/png");
    }, [isFlat, isShadowed, SIZE]);
    const ours = await picture(false);
    const out = join(folder, `like-${name}`);
    execFileSync(process.env.SESSILE, ["run", scene, "--out", out, "--no-pictures", "--set", 'time.duration="20 ms"'], { stdio: "ignore" });
    execFileSync(process.env.SESSILE, ["render", out, "--frames", "0", "--quality", "full"], { stdio: "ignore" });
    const rendered = readdirSync(out, { recursive: true }).filter((path) => String(path).endsWith(".png") && !String(path).includes("wet"));
    const theirs = readFileSync(join(out, String(rendered[0])));
    writeFileSync(join(pictures, `like-${name}-page.png`), Buffer.from(ours.split(",")[1], "base64"));
    writeFileSync(join(pictures, `like-${name}-traced.png`), theirs);
    const { similarity, difference } = await compare(page, ours, png(theirs));
    claim(`${name}: the page's picture is like the path tracer's image`, similarity > least && difference < 0.1,
      `structural similarity ${similarity.toFixed(3)}, at least ${least}; mean difference ${(100 * difference).toFixed(1)} % of white`);
    if (text.includes('"ball"')) {
      const bright = await compare(page, await picture(false, false), png(theirs));
      claim(`${name}: it is less like it without the shadow of the ball`, bright.similarity < similarity - 0.005, bright.similarity.toFixed(3));
    }
    if (text.includes("normal_map")) {
      const flat = await compare(page, await picture(true), png(theirs));
      claim(`${name}: it is less like it without the normal maps`, flat.similarity < similarity - 0.1, flat.similarity.toFixed(3));
    }
    claim(`${name}: nothing was written to the console`, errors.length === 0, errors.slice(0, 3).join("; "));
    await page.close();
    await server.end();
  }
}
