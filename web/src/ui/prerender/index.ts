export { prerenderShell } from './prerender-shell.tsx';
