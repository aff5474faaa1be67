export { App } from './app.tsx';
export { Footer } from './footer.tsx';
export { Header } from './header.tsx';
export { Shell } from './shell.tsx';
export { startPage } from './start-page.tsx';
