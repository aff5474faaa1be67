import { describeRows } from '../matrix.ts';

describeRows('file', 'WebM file');
