// three.js in headless Chromium: at each time it draws the triangles of the one frame that is shown, and nothing
// outside. Without animation its image is that of the first frame. Arguments: NODE_MODULES FILE.glb SHOWN.json PICTURE.png
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, normalize } from "node:path";

const [modules, file, shownFile, picture] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "/"))("playwright-core");
const shown = JSON.parse(readFileSync(shownFile, "utf8"));

const page = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">
{ "imports": { "three": "/three/build/three.module.js", "three/addons/": "/three/examples/jsm/" } }</script>
<script type="module">
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.setSize(640, 360);
document.body.append(renderer.domElement);
const gltf = await new GLTFLoader().loadAsync("/file.glb");
const scene = new THREE.Scene();
scene.background = new THREE.Color(0x8899aa);
// Clear drops show what they reflect.
scene.environment = new THREE.PMREMGenerator(renderer).fromScene(new RoomEnvironment(), 0.02).texture;
scene.add(gltf.scene);
const box = new THREE.Box3().setFromObject(gltf.scene);
const size = box.getSize(new THREE.Vector3()).length();
// A camera around everything, with the planes that three.js has by default.
const camera = new THREE.PerspectiveCamera(35, 640 / 360, 0.001 * size);
camera.position.copy(box.getCenter(new THREE.Vector3())).add(new THREE.Vector3(0.3, 0.4, 1.2).multiplyScalar(0.9 * size));
camera.lookAt(box.getCenter(new THREE.Vector3()));
// One pass, so that each triangle is counted once.
const plain = new THREE.MeshNormalMaterial();
const image = () => renderer.domElement.toDataURL();
scene.overrideMaterial = plain;
renderer.render(scene, camera);
window.still = { triangles: renderer.info.render.triangles, image: image() };
const mixer = new THREE.AnimationMixer(gltf.scene);
gltf.animations.forEach((clip) => mixer.clipAction(clip).play());
window.count = (time) => {
  mixer.setTime(time);
  scene.overrideMaterial = plain;
  renderer.render(scene, camera);
  const { triangles, calls } = renderer.info.render;
  return { triangles, calls, size, image: image() };
};
window.draw = (time) => {
  mixer.setTime(time);
  scene.overrideMaterial = null;
  renderer.render(scene, camera);
};
window.ready = true;
</script>`;

const types = { js: "text/javascript", glb: "model/gltf-binary" };
const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
  try {
    const data = path === "/" ? page : readFileSync(path === "/file.glb" ? file : join(modules, path));
    response.writeHead(200, { "content-type": path === "/" ? "text/html" : types[path.split(".").pop()] ?? "text/plain" });
    response.end(data);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
    "--disable-component-update", "--no-first-run", "--mute-audio",
  ],
});
try {
  const tab = await browser.newPage({ viewport: { width: 640, height: 360 } });
  const errors = [];
  tab.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  tab.on("pageerror", (error) => errors.push(error.message));
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  await tab.waitForFunction(() => window.ready, null, { timeout: 60000 });
  let size = 0;
  const still = await tab.evaluate(() => window.still);
  const first = await tab.evaluate(() => window.count(0));
  if (still.image !== first.image) errors.push("without animation the image is not that of the first frame");
  for (const { time, triangles } of shown) {
    const drawn = await tab.evaluate((time) => window.count(time), time);
    size = drawn.size;
    if (drawn.triangles !== triangles) errors.push(`at ${time} s ${drawn.triangles} triangles are drawn, not ${triangles}`);
  }
  if (!(size > 0 && size < 10)) errors.push(`the scene has a size of ${size} m`);
  await tab.evaluate((time) => window.draw(time), shown.at(-1).time);
  writeFileSync(picture, await tab.screenshot());
  if (errors.length > 0) {
    console.error(errors.join("\n"));
    process.exitCode = 1;
  } else {
    const most = Math.max(...shown.map(({ triangles }) => triangles));
    console.log(
      `three.js: ${shown.length} frames, each drawn once and alone (up to ${most} triangles); without animation the first ` +
        `is seen (${shown[0].triangles} triangles, and ${still.triangles - shown[0].triangles} without area)`,
    );
  }
} finally {
  await browser.close();
  server.close();
}
