export { App } from './app.tsx';
export { Footer } from './footer.tsx';
export { Masthead } from './header.tsx';
export { startPage } from './start-page.tsx';
