export { buildPage } from './build-page.ts';
export { createPage, type PageOptions } from './page.ts';
