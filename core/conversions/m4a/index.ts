export { m4a } from './m4a.ts';
