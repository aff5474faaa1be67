export { useStackLogGroups } from './conventions.ts';
export { deployedSource, Firewall } from './edge/index.ts';
export { Reelay, type ReelayProps } from './reelay.ts';
