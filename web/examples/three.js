// Drops of the models `pane` and `droplet` in three.js: instances of a half ball. The simulation runs in a worker.
import * as THREE from "three";
import { STRIDE } from "../sessile.js";
import { SessileWorker } from "../worker.js";
const LARGEST = 20000;
const toml = await (await fetch(new URL("bunny.toml", import.meta.url))).text();
const simulation = await SessileWorker.load(toml);
const { solids } = await simulation.describe();
const renderer = new THREE.WebGLRenderer({ antialias: true });
renderer.setSize(innerWidth, innerHeight);
document.body.append(renderer.domElement);
const scene = new THREE.Scene();
scene.background = new THREE.Color(0x8899aa), scene.add(new THREE.HemisphereLight(0xffffff, 0x445544, 2), new THREE.DirectionalLight(0xffffff, 2));
const camera = new THREE.PerspectiveCamera(35, innerWidth / innerHeight, 0.001, 10);
const bounds = new THREE.Box3();
const bodies = await Promise.all(solids.map(async ({ low, high, name }, solid) => {
  const { positions, triangles } = await simulation.mesh(solid);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
  geometry.computeVertexNormals();
  const body = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0xb08d6a, roughness: 0.6, name }));
  body.matrixAutoUpdate = false;
  bounds.union(new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high)));
  scene.add(body);
  return body;
}));
const center = bounds.getCenter(new THREE.Vector3()), reach = bounds.getSize(new THREE.Vector3()).length();
camera.position.copy(center).add(new THREE.Vector3(0.5, 0.5, 1.2).multiplyScalar(reach));
camera.lookAt(center);
const water = new THREE.MeshPhysicalMaterial({ color: 0xffffff, roughness: 0.02, transparent: true, opacity: 0.55, clearcoat: 1 });
const half = new THREE.SphereGeometry(1, 16, 8, 0, 2 * Math.PI, 0, Math.PI / 2); // its pole is y
const drops = new THREE.InstancedMesh(half, water, LARGEST);
drops.frustumCulled = false;
scene.add(drops);
const [x, y, z] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()], matrix = new THREE.Matrix4();
function show({ time, drops: values, poses }) {
  drops.count = Math.min(values.length / STRIDE, LARGEST);
  for (let k = 0; k < drops.count; k++) {
    const [px, py, pz, nx, ny, nz, hx, hy, hz, radius, height, , stretch] = values.subarray(k * STRIDE);
    y.set(nx, ny, nz), x.set(hx, hy, hz);
    if (y.lengthSq() === 0) y.set(0, 1, 0), x.set(1, 0, 0); // in flight
    z.crossVectors(x, y);
    matrix.makeBasis(x.multiplyScalar(radius * (1 + stretch / 2)), y.multiplyScalar(height || radius), z.multiplyScalar(radius));
    drops.setMatrixAt(k, matrix.setPosition(px, py, pz));
  }
  drops.instanceMatrix.needsUpdate = true;
  bodies.forEach(({ matrix: pose }, k) => {
    const [a, b, c, d, e, f, g, h, i, u, v, w] = poses.subarray(12 * k);
    pose.set(a, d, g, u, b, e, h, v, c, f, i, w, 0, 0, 0, 1);
  });
  document.getElementById("state").value = `${time.toFixed(1)} s, ${drops.count} drops`;
}
renderer.setAnimationLoop(() => renderer.render(scene, camera));
await simulation.step(1); // it has been raining for a while
for (;;) {
  await simulation.step(1 / 60);
  show(await simulation.view());
  await new Promise(requestAnimationFrame);
}
