export { isProcessGone } from './process-gone.ts';
export { findOnPath, isExecutable, run } from './program.ts';
export { findPython, type InstallOptions } from './python.ts';
