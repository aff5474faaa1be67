export { type FileDependencies, file } from './file.ts';
