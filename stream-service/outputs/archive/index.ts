export { type Archives, createArchives } from './open.ts';
