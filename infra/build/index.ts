export { buildPage } from './build-page.ts';
export { bundle } from './bundle.ts';
