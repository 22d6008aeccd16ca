// Elements of the page.
// @ts-check

/** @type {(id: string) => any} */
export const element = (id) => document.getElementById(id);
