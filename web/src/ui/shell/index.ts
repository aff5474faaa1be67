export { Shell } from './header.tsx';
export { startPage } from './start-page.tsx';
