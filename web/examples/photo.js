// Rain runs over a photograph; a finger wipes it. The glass is 160 mm × 90 mm, its middle at the origin.
import { Sessile, STRIDE } from "../sessile.js";

const canvas = document.getElementById("canvas"), pen = canvas.getContext("2d"), state = document.getElementById("state");
const perMeter = canvas.width / 0.16, place = (x, y) => [(0.08 + x) * perMeter, (0.045 - y) * perMeter];
const rain = await Sessile.load(await (await fetch(new URL("window.toml", import.meta.url))).text());
const photo = new OffscreenCanvas(canvas.width, canvas.height), lens = new OffscreenCanvas(64, 64);

function show(image) {
  photo.getContext("2d").drawImage(image, 0, 0, photo.width, photo.height);
  const small = lens.getContext("2d"); // a drop shows the world behind it upside down
  small.setTransform(-1, 0, 0, -1, 64, 64);
  small.beginPath(), small.arc(32, 32, 32, 0, 7), small.clip(), small.drawImage(photo, 0, 0, 64, 64);
  const shade = small.createRadialGradient(32, 36, 12, 32, 32, 32);
  shade.addColorStop(0, "#fff3"), shade.addColorStop(0.6, "#0000"), shade.addColorStop(1, "#0009");
  small.fillStyle = shade, small.fillRect(0, 0, 64, 64);
}
const sky = pen.createLinearGradient(0, 0, 0, canvas.height);
["#bcd3e6", "#5e7d94", "#2c3a2c"].forEach((color, k) => sky.addColorStop(k / 2, color));
pen.fillStyle = sky, pen.fillRect(0, 0, canvas.width, canvas.height), show(canvas);
document.getElementById("file").onchange = async (event) => show(await createImageBitmap(event.target.files[0]));

rain.step(3); // it has been raining for a while
let last = null;
canvas.onpointermove = ({ offsetX, offsetY, buttons, timeStamp }) => {
  const at = [(offsetX / canvas.clientWidth - 0.5) * 0.16, (0.5 - offsetY / canvas.clientHeight) * 0.09, 0];
  if (buttons && last) rain.wipe({ from: last.at, to: at, duration: (timeStamp - last.time) / 1000, finger: 0.006 });
  last = { at, time: timeStamp };
};
requestAnimationFrame(function draw() {
  rain.step(1 / 60);
  const { drops, time } = rain.view();
  pen.drawImage(photo, 0, 0);
  for (let k = 0; k < drops.length; k += STRIDE) {
    const [x, y] = place(drops[k], drops[k + 1]), radius = drops[k + 9] * perMeter;
    if (drops[k + 18] >= 0) pen.drawImage(lens, x - radius, y - radius, 2 * radius, 2 * radius * (1 + drops[k + 12]));
  }
  state.value = `${time.toFixed(1)} s, ${drops.length / STRIDE} drops`;
  requestAnimationFrame(draw);
});
