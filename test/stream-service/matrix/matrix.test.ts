import { describeCells, GATE } from './matrix.ts';

describeCells(GATE);
