export { formatFinding } from './finding.ts';
export { runChecks } from './run-checks.ts';
