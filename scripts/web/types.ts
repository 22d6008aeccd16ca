// A user's program, for the compiler only: every method with the types that it promises.
import { STRIDE, Sessile, type View } from "../../web/sessile.js";
import { SessileWorker } from "../../web/worker.js";

async function main(): Promise<void> {
  const drops: Sessile = await Sessile.load("model = \"pane\"", { files: { "cup.obj": new Uint8Array(3) } });
  drops.step(1 / 60);
  const view: View = drops.view();
  const radius: number = view.drops[STRIDE - 11];
  const positions: Float32Array = view.surface.positions;
  drops.add([0, radius, 0], 1e-9, [0, -1, 0]);
  const taken: number = drops.take([0, 0, 0], 0.01) + drops.wipe({ from: [0, 0, 0], to: [1, 0, 0], duration: 1, finger: 0.005 });
  drops.gravity(null);
  drops.wind([taken, 0, positions[0]]);
  drops.sources(false);
  drops.material(0, [90, 80, 40]);
  drops.move(0, [0, 0, 0.01], 0.1);
  drops.restore(drops.save());
  const names: string[] = drops.describe().solids.map((solid) => solid.name);
  const lines: string[] = [...drops.notices(), drops.digest(), ...names];
  const texels: Uint8Array | undefined = drops.wetness(0)?.texels;
  const triangles: Uint32Array = drops.mesh(0).triangles;
  console.log(lines, texels, triangles, drops.balance().added, drops.time);

  const worker: SessileWorker = await SessileWorker.load("");
  await worker.step(0.1);
  const remote: View = await worker.view();
  // @ts-expect-error A vector has three numbers.
  await worker.add([0, 0], 1e-9);
  // @ts-expect-error There is no such method.
  drops.boil();
  console.log(remote.time);
  worker.close();
}

void main();
