export { formatFindings } from './finding.ts';
export { checkAccount, checkMachine } from './preflight.ts';
