export { type RemuxDependencies, remux } from './remux.ts';
