import { describeVariants } from '../matrix.ts';

describeVariants();
