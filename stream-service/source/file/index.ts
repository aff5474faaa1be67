export { openFile } from './file-source.ts';
