import { describeRows } from '../matrix.ts';

describeRows('DASH');
