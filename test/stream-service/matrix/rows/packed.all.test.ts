import { describeRows } from '../matrix.ts';

describeRows('packed audio');
