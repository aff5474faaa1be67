export { endWithParent, isStopped, killWhenStopped } from './stopped-processes.ts';
export { findOnPath, isExecutable, isProcessGone, run } from './program.ts';
export { findPython, type InstallOptions } from './python.ts';
