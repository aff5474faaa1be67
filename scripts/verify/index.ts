export { formatResult } from './report.ts';
export { type CheckResult, Unreachable, type Verification, verify } from './verify.ts';
