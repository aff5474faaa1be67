export { formatFindings } from './finding.ts';
export { checkAccount, checkMachine, isBootstrapped } from './preflight.ts';
