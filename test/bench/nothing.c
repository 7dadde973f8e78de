/* nothing.c - a program that does nothing, linked in several ways */
int main(void)
{
	return 0;
}
