export { type Archives, createArchives } from './create-archives.ts';
