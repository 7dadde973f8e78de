// throw.cc - unwinding through frames, containers, streams
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int depth(int n)
{
	std::string keep(static_cast<std::size_t>(n), 'x');

	if (n == 0)
		throw std::runtime_error("bottom");
	return depth(n - 1) + static_cast<int>(keep.size());
}

int main(int argc, char **argv)
{
	std::map<std::string, int> words;

	for (int i = 1; i < argc; i++)
		words[argv[i]]++;
	for (const auto &word : words)
		std::cout << word.first << ' ' << word.second << '\n';
	std::thread([] {
		try {
			depth(50);
		} catch (const std::exception &e) {
			std::cout << "caught " << e.what() << '\n';
		}
	}).join();
	return 0;
}
