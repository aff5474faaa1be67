import './styles/index.css';
import { App, startPage } from './ui/shell/index.ts';

void startPage(<App />, location.search);
