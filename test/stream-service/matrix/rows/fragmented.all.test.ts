import { describeRows } from '../matrix.ts';

describeRows('HLS of MP4', 'two lists of MP4');
