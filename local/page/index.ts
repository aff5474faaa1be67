export { buildPage } from './build-page.ts';
export { createPage } from './page.ts';
