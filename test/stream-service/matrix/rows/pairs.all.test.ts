import { describeRows } from '../matrix.ts';

describeRows('pair', 'fragmented pair', 'WebM pair');
