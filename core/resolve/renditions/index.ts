export { selectRenditions } from './select-renditions.ts';
