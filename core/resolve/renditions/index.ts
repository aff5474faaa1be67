export { offer } from './select-renditions.ts';
