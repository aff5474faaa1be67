import { describeRows } from '../matrix.ts';

describeRows('HLS of TS');
