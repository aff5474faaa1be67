import type { SourceKind } from '../source-kind.ts';
import { openFile } from './file-source.ts';

/** Direct files, read by ranges. */
export const file: SourceKind = { needsRemux: false, open: openFile };
