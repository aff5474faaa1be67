export { endWithParent, isStopped, killWhenStopped } from './process-end.ts';
export { findOnPath, isExecutable, isProcessGone, run } from './program.ts';
export { findPython, type InstallOptions } from './python.ts';
