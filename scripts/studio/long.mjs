// Memory of the page and of the server over ten minutes (or MINUTES) of use, and a mesh of a million triangles.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claim, finish, folder, launch, openPage, serve, until } from "./harness.mjs";

const minutes = Number(process.env.MINUTES ?? 10);
const browser = await launch();

/** Memory of a process, in bytes. */
const resident = (pid) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
const input = (page, value) => page.evaluate((value) => studio.engine.input(value), value);

async function flatMemory() {
  const server = await serve();
  const { page, errors } = await openPage(browser, server.address);
  const devtools = await page.context().newCDPSession(page);
  const heap = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize;
  };
  const samples = [];
  const end = Date.now() + 60000 * minutes;
  for (let k = 0; Date.now() < end; k++) {
    const x = (0.12 * (k % 7)) / 7 - 0.06;
    await input(page, { do: "add", at: [x, 0.02, 0], volume: 6e-9 });
    await input(page, { do: "wipe", tool: { kind: "finger", radius: 0.007 }, path: [[x, 0.04, 0, 0], [x, -0.04, 0, 0.2]], normal: [0, 0, 1], begin: true, end: true });
    if (k % 5 === 4) await input(page, { do: "undo" });
    if (k % 20 === 19) await input(page, { do: "reset" });
    await page.waitForTimeout(500);
    if (k % 10 === 0) samples.push({ page: await heap(), server: resident(server.pid) });
  }
  // Caches fill in the first third; after it the medians of the middle and the last third must agree.
  const third = Math.floor(samples.length / 3);
  const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  for (const who of ["page", "server"]) {
    const values = samples.map((sample) => sample[who] / 2 ** 20);
    const [middle, last] = [median(values.slice(third, 2 * third)), median(values.slice(2 * third))];
    claim(`the memory of the ${who} is flat over ${minutes} minutes`, last < 1.1 * middle + 2,
      `${values[0].toFixed(1)} MB at first, ${middle.toFixed(1)} in the middle, ${last.toFixed(1)} at the end, ${samples.length} samples`);
  }
  claim("nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
  await server.end();
}

/** A ball of a million triangles, as a binary .ply file. */
function millionTriangles() {
  const [rings, sectors] = [708, 708];
  const vertices = Buffer.alloc(12 * (rings + 1) * sectors);
  for (let i = 0; i <= rings; i++) {
    for (let j = 0; j < sectors; j++) {
      const [polar, angle] = [(0.001 + 0.998 * (i / rings)) * Math.PI, (2 * Math.PI * j) / sectors];
      const at = 12 * (i * sectors + j);
      vertices.writeFloatLE(Math.sin(polar) * Math.cos(angle), at);
      vertices.writeFloatLE(Math.cos(polar), at + 4);
      vertices.writeFloatLE(-Math.sin(polar) * Math.sin(angle), at + 8);
    }
  }
  const faces = [];
  for (let i = 0; i < rings; i++) {
    for (let j = 0; j < sectors; j++) {
      const [a, b] = [i * sectors + j, i * sectors + ((j + 1) % sectors)];
      faces.push([a, a + sectors, b], [b, a + sectors, b + sectors]);
    }
  }
  const pole = (i) => Array.from({ length: sectors - 2 }, (_, j) => (i === 0
    ? [0, j + 1, j + 2] : [i * sectors, i * sectors + j + 2, i * sectors + j + 1]));
  faces.push(...pole(0), ...pole(rings));
  const list = Buffer.alloc(13 * faces.length);
  faces.forEach((face, k) => {
    list.writeUInt8(3, 13 * k);
    face.forEach((vertex, c) => list.writeUInt32LE(vertex, 13 * k + 1 + 4 * c));
  });
  const head = `ply\nformat binary_little_endian 1.0\nelement vertex ${vertices.length / 12}\nproperty float x\nproperty float y\nproperty float z\n`
    + `element face ${faces.length}\nproperty list uchar uint vertex_indices\nend_header\n`;
  return { bytes: Buffer.concat([Buffer.from(head), vertices, list]), count: faces.length };
}

async function largeMesh() {
  const server = await serve();
  const { page, errors } = await openPage(browser, server.address);
  const { bytes, count } = millionTriangles();
  const file = join(folder, "ball.ply");
  writeFileSync(file, bytes);
  await page.evaluate(() => {
    const picker = document.createElement("input");
    Object.assign(picker, { type: "file", id: "picker" });
    window.heard = [];
    const notice = studio.notice.bind(studio);
    studio.notice = (text) => { window.heard.push(text); notice(text); };
    picker.onchange = () => studio.panels.openModel(picker.files[0]);
    document.body.append(picker);
  });
  await page.setInputFiles("#picker", file);
  claim("progress is shown while a model is sent", await until(page, () => window.heard.some((text) => /^sending .* 100 %/.test(text)), null, 120));
  claim(`a mesh of ${count} triangles works, or the page explains why not`,
    await until(page, () => window.heard.some((text) => /triangles, too many to draw/.test(text)) && studio.view.generation > 0, null, 300),
    (await page.evaluate(() => window.heard.at(-1))) ?? "");
  const time = await page.evaluate(() => studio.view.time);
  claim("and it rains on it", await until(page, (t) => studio.view.time > t + 0.02, time, 300), errors.join("; "));
  await page.close();
  await server.end();
}

await largeMesh();
await flatMemory();
await browser.close();
finish();
process.exit();
