export { endWithParent } from './end-with-parent.ts';
export { findOnPath, isExecutable, isProcessGone, run } from './program.ts';
export { findPython, type InstallOptions } from './python.ts';
export { isStopped, killWhenStopped } from './stopped-processes.ts';
