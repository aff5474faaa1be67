export { BROWSERS, type Browser, manifestFor } from './manifest.ts';
