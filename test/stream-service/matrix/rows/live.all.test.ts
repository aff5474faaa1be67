import { describeRows } from '../matrix.ts';

describeRows('live window');
