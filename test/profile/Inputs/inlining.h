void sink(int n);
void other(int n);
