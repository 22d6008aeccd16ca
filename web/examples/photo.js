// Rain runs over a photograph; a finger wipes it. The glass is 160 mm × 90 mm, its middle at the origin.
import { Sessile, STRIDE } from "../sessile.js";
const canvas = document.getElementById("canvas"), pen = canvas.getContext("2d"), scale = canvas.width / 0.16;
const photo = new OffscreenCanvas(canvas.width, canvas.height), lens = new OffscreenCanvas(64, 64), small = lens.getContext("2d");
small.arc(32, 32, 32, 0, 7), small.clip();
function show(image) {
  photo.getContext("2d").drawImage(image, 0, 0, photo.width, photo.height);
  small.setTransform(-1, 0, 0, -1, 64, 64), small.drawImage(photo, 0, 0, 64, 64); // a drop shows it upside down
  small.lineWidth = 14, small.strokeStyle = "#0004", small.stroke();
}
const sky = pen.fillStyle = pen.createLinearGradient(0, 0, 0, canvas.height);
["#bcd3e6", "#5e7d94", "#2c3a2c"].forEach((color, k) => sky.addColorStop(k / 2, color));
pen.fillRect(0, 0, canvas.width, canvas.height), show(canvas);
document.getElementById("file").onchange = async ({ target }) => show(await createImageBitmap(target.files[0]));
const rain = await Sessile.load(await (await fetch(new URL("window.toml", import.meta.url))).text());
let last = rain.step(3); // it has been raining for a while
canvas.onpointermove = ({ offsetX, offsetY, buttons, timeStamp }) => {
  const at = [(offsetX / canvas.clientWidth - 0.5) * 0.16, (0.5 - offsetY / canvas.clientHeight) * 0.09, 0];
  if (buttons && last) rain.wipe({ from: last.at, to: at, duration: (timeStamp - last.time) / 1000, finger: 0.006 });
  last = { at, time: timeStamp };
};
requestAnimationFrame(function draw() {
  rain.step(1 / 60), pen.drawImage(photo, 0, 0);
  const { drops, time } = rain.view();
  for (let k = 0; k < drops.length; k += STRIDE) {
    const x = (0.08 + drops[k]) * scale, y = (0.045 - drops[k + 1]) * scale, radius = drops[k + 9] * scale;
    if (drops[k + 18] >= 0) pen.drawImage(lens, x - radius, y - radius, 2 * radius, 2 * radius * (1 + drops[k + 12]));
  }
  document.getElementById("state").value = `${time.toFixed(1)} s, ${drops.length / STRIDE} drops`;
  requestAnimationFrame(draw);
});
