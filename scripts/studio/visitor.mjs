// What a visitor without a mouse, with a phone, or at the first visit finds.
import { join } from "node:path";
import { claim, openPage, serve, until } from "./harness.mjs";

/** Contrast of text to the page behind it, as WCAG 2 defines it. */
const contrast = (page) => page.evaluate(() => {
  const style = getComputedStyle(document.body);
  const light = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map((v) => Number(v) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
  return { contrast: (a + 0.05) / (b + 0.05), dark: light(style.backgroundColor) < 0.2 };
});

async function firstVisit(browser, address, pictures) {
  const context = await browser.newContext({ viewport: { width: 960, height: 600 } });
  const { page, errors } = await openPage(context, address);
  const hints = await page.locator("#hints:visible li").count();
  await page.screenshot({ path: join(pictures, "first-visit.png") });
  await page.click("#hints-close");
  await page.reload();
  await until(page, () => window.studio?.frames > 0);
  claim("three hints are shown at the first visit only", hints === 3 && await page.locator("#hints:visible").count() === 0, `${hints} hints`);
  await page.click('[data-tool="blade"]');
  claim("a tool explains itself when it is taken", /blade/i.test(await page.locator("#tip:visible").textContent()));

  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    const seen = await contrast(page);
    claim(`the ${theme} theme follows the system, with contrast`, seen.dark === (theme === "dark") && seen.contrast > 7, `${seen.contrast.toFixed(1)} : 1`);
    await page.screenshot({ path: join(pictures, `theme-${theme}.png`) });
  }
  await page.evaluate(() => {
    const select = document.getElementById("theme");
    select.value = "light";
    select.dispatchEvent(new Event("change"));
  });
  claim("and can be chosen", !(await contrast(page)).dark);

  await page.emulateMedia({ reducedMotion: "reduce" });
  const moving = () => page.evaluate(() => {
    studio.notice(`moved ${Math.random()}`);
    return document.querySelector("#notices p").getAnimations().length;
  });
  const still = await moving();
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await page.evaluate(() => document.getElementById("notices").replaceChildren());
  const animated = await moving();
  claim("reduced motion stops what moves by itself", still === 0 && animated === 1, `${still} and ${animated} animations`);

  const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea, canvas, [role], section, aside, nav")]
    .filter((e) => !e.closest("[aria-hidden=true]") && getComputedStyle(e).display !== "none")
    .filter((e) => !(e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim() || e.textContent.trim() || e.getAttribute("role") === "status"))
    .map((e) => e.id || e.tagName));
  claim("every control has a name for a screen reader", unnamed.length === 0, unnamed.join(" "));
  const tree = await page.locator("body").ariaSnapshot();
  claim("the tools are radio buttons, and the settings have roles", /radiogroup "Tool"/.test(tree) && /radio "Finger"/.test(tree)
    && /slider "Direction of gravity/.test(tree) && /complementary "Settings"/.test(tree) && /navigation "Time"/.test(tree));
  claim("first visit: nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await context.close();
}

async function keyboard(browser, address) {
  const { page, errors } = await openPage(browser, address, { viewport: { width: 960, height: 600 } });
  await page.click("#hints-close");
  const camera = () => page.evaluate(() => ({ yaw: studio.camera.yaw, pitch: studio.camera.pitch, distance: studio.camera.distance, target: [...studio.camera.target] }));
  await page.focus("#view");
  const before = await camera();
  for (const key of ["ArrowLeft", "ArrowUp", "+", "Shift+ArrowRight"]) await page.keyboard.press(key);
  const after = await camera();
  claim("arrows turn and move the view, + zooms", after.yaw !== before.yaw && after.pitch > before.pitch && after.distance < before.distance
    && after.target.some((v, k) => v !== before.target[k]));
  for (const [key, tool] of ["look", "finger", "blade", "add", "drag", "select", "source"].map((name, k) => [String(k + 1), name])) {
    await page.keyboard.press(key);
    if (await page.evaluate(() => studio.hand.tool) !== tool) claim(`the key ${key} takes the tool ${tool}`, false);
  }
  await page.keyboard.press(" ");
  const paused = await until(page, () => !studio.view.playing);
  const time = await page.evaluate(() => studio.view.time);
  await page.keyboard.press(".");
  claim("Space pauses, and a point makes one step", paused && await until(page, (t) => studio.view.time > t && studio.view.time < t + 0.02, time));
  await page.keyboard.press("4");
  const added = await page.evaluate(() => studio.balance.added);
  await page.keyboard.press("Enter");
  claim("Enter uses the tool", await until(page, (v) => studio.balance.added > v + 5e-9 && studio.view.undo === 1, added));
  await page.keyboard.press("z");
  claim("Z takes it back", await until(page, () => studio.view.undo === 0));
  await page.keyboard.press("h");
  claim("H hides the settings", await page.evaluate(() => document.body.dataset.panel) === "off");
  await page.keyboard.press("r");
  claim("R returns to the start", await until(page, () => studio.view.time < 1));
  await page.keyboard.press("h");
  // Every control can be reached by Tab.
  await page.focus("#view");
  const reached = new Set();
  for (let k = 0; k < 60; k++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.id || document.activeElement?.dataset?.tool || ""));
  }
  claim("Tab reaches the bar, the tools and the settings", ["play", "undo", "settings", "gravity", "advancing", "liquid"].every((id) => reached.has(id) || id === "undo"),
    `${reached.size} controls`);
  claim("keyboard: nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await page.close();
}

async function phone(browser, address, pictures) {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  const { page, errors } = await openPage(context, address);
  await page.screenshot({ path: join(pictures, "phone-first.png") });
  const [hints, under] = await Promise.all(["#hints", "#bar"].map((id) => page.locator(id).boundingBox()));
  claim("on a phone the hints do not cover the bar", hints.y + hints.height <= under.y + 1, `${Math.round(hints.y + hints.height)} and ${Math.round(under.y)}`);
  await page.tap("#hints-close");
  const outside = await page.evaluate(() => [...document.querySelectorAll("#bar, #bar button, #tools")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && (box.left < 0 || box.right > innerWidth + 1 || box.top < 0 || box.bottom > innerHeight + 1);
  }).map((e) => e.id));
  const small = await page.evaluate(() => [...document.querySelectorAll("#bar button, #tools button")].filter((e) => e.getBoundingClientRect().height < 32).length);
  claim("on a phone everything is inside the page and large enough to tap", outside.length === 0 && small === 0
    && await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${outside.join(" ")} ${small} small`);
  await page.tap("#settings");
  await page.screenshot({ path: join(pictures, "phone-settings.png") });
  const panel = await page.locator("#panel").boundingBox();
  const bar = await page.locator("#bar").boundingBox();
  claim("the settings do not cover the bar", panel.y + panel.height <= bar.y + 1, `${Math.round(panel.y + panel.height)} and ${Math.round(bar.y)}`);
  await page.tap("#settings");

  const touch = await context.newCDPSession(page);
  const send = (type, points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const [distance, undo] = await page.evaluate(() => [studio.camera.distance, studio.view.undo]);
  await send("touchStart", [[150, 350]]);
  await send("touchStart", [[150, 350], [250, 350]]);
  for (let k = 1; k <= 8; k++) await send("touchMove", [[150 - 8 * k, 350], [250 + 8 * k, 350]]);
  await send("touchEnd", []);
  const nearer = await page.evaluate(() => studio.camera.distance);
  claim("two fingers zoom", nearer < 0.8 * distance, `from ${distance.toFixed(3)} m to ${nearer.toFixed(3)} m`);
  await send("touchStart", [[120, 380]]);
  for (let k = 1; k <= 8; k++) await send("touchMove", [[120 + 15 * k, 380]]);
  await send("touchEnd", []);
  claim("one finger wipes", await until(page, (n) => studio.view.undo > n, undo));
  await page.screenshot({ path: join(pictures, "phone.png") });
  claim("phone: nothing was written to the console", errors.length === 0, errors.slice(0, 3).join("; "));
  await context.close();
}

export async function visitor(browser, pictures) {
  const server = await serve();
  await firstVisit(browser, server.address, pictures);
  await keyboard(browser, server.address);
  await phone(browser, server.address, pictures);
  await server.end();
}
